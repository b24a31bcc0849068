package target

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// names answers questions about names of hosts: of each it gives the addresses in
// their order, one a question, and the last one for ever.
type names struct {
	mu   sync.Mutex
	give map[string][]string
}

func (n *names) next(host string) netip.Addr {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.give[host]
	if len(all) == 0 {
		return netip.Addr{}
	}
	if len(all) > 1 {
		n.give[host] = all[1:]
	}
	return netip.MustParseAddr(all[0])
}

// resolver is one that asks these names, over a pipe.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go n.serve(there)
		return here, nil
	}}
}

// serve answers one question, as over TCP: the length stands before the message.
func (n *names) serve(c net.Conn) {
	defer func() { _ = c.Close() }()
	question := make([]byte, 2048)
	if _, err := c.Read(question[:2]); err != nil {
		return
	}
	size, err := c.Read(question)
	if err != nil {
		return
	}
	question = question[:size]
	var labels []string
	end := 12
	for question[end] != 0 {
		length := int(question[end])
		labels = append(labels, string(question[end+1:end+1+length]))
		end += 1 + length
	}
	end += 5 // the root, type and class
	answer := append([]byte{}, question[:end]...)
	answer[2], answer[3] = 0x81, 0x80
	binary.BigEndian.PutUint16(answer[10:], 0) // no additional records
	if kind := binary.BigEndian.Uint16(question[end-4:]); kind == 1 {
		if address := n.next(strings.Join(labels, ".")); address.IsValid() {
			binary.BigEndian.PutUint16(answer[6:], 1)
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
			answer = append(answer, address.AsSlice()...)
		}
	}
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
}

// An attacker may write any job, own any name and answer for it as they like, and
// own any receiver: none of that lets a webhook arrive at what is not theirs.
func TestNoWebhookArrivesWhereItMustNot(t *testing.T) {
	inside := http.NewServeMux()
	arrived := make(chan string, 16)
	inside.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Host })
	server := httptest.NewServer(inside) // on loopback, as what must not be reached
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	private := job.Reach{Hosts: []string{"partner.example.com", "*.apps.example.com"}}
	for sentence, row := range map[string]struct {
		url   string
		names map[string][]string
		reach job.Reach
	}{
		"loopback by its address":                {"http://127.0.0.1:" + port, nil, job.Reach{}},
		"loopback by its name":                   {"http://localhost:" + port, map[string][]string{"localhost": {"127.0.0.1"}}, job.Reach{}},
		"loopback over IPv6":                     {"http://[::1]:" + port, nil, job.Reach{}},
		"loopback in IPv6 clothing":              {"http://[::ffff:127.0.0.1]:" + port, nil, job.Reach{}},
		"all interfaces":                         {"http://0.0.0.0:" + port, nil, job.Reach{}},
		"an address in hexadecimal":              {"http://0x7f.1:" + port, map[string][]string{"0x7f.1": {"127.0.0.1"}}, job.Reach{}},
		"a name that leads inside":               {"http://evil.example.com:" + port, map[string][]string{"evil.example.com": {"127.0.0.1"}}, job.Reach{}},
		"a name with a full stop":                {"http://evil.example.com.:" + port, map[string][]string{"evil.example.com": {"127.0.0.1"}}, job.Reach{}},
		"a name that changes its mind":           {"http://evil.example.com:" + port, map[string][]string{"evil.example.com": {"192.0.2.1", "127.0.0.1"}}, job.Reach{}},
		"a name that is allowed, led to here":    {"http://partner.example.com:" + port, map[string][]string{"partner.example.com": {"127.0.0.1"}}, private},
		"a name that is allowed, led to EC2":     {"http://partner.example.com", map[string][]string{"partner.example.com": {"169.254.169.254"}}, private},
		"a name that is allowed, led to ECS":     {"http://partner.example.com", map[string][]string{"partner.example.com": {"169.254.170.2"}}, private},
		"a name below one, led to here":          {"http://x.apps.example.com:" + port, map[string][]string{"x.apps.example.com": {"127.0.0.1"}}, private},
		"a private address beside allowed names": {"http://10.0.0.1:" + port, nil, private},
		"a name that only ends alike":            {"http://evilpartner.example.com", map[string][]string{"evilpartner.example.com": {"10.0.0.1"}}, private},
		"metadata of EC2":                        {"http://169.254.169.254/latest/meta-data/", nil, job.Reach{}},
		"metadata of EC2 over IPv6":              {"http://[fd00:ec2::254]/", nil, job.Reach{}},
		"credentials of a task":                  {"http://169.254.170.2/v2/credentials", nil, job.Reach{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			hook, err := newWebhookBy(Options{WebhookAllow: row.reach, Clock: clock.System{}}, (&names{give: row.names}).resolver())
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time a name may have changed its mind
				f := worker.FailureOf(hook.handle(t.Context(), workertest.Attempt(workertest.Facts{Target: job.Target{Webhook: &job.Webhook{URL: row.url}}})))
				if f == nil || f.Code != CodeRefusedAddress || f.Class != "permanent" {
					t.Errorf("%+v; want %s", f, CodeRefusedAddress)
				}
			}
			if len(arrived) > 0 {
				t.Errorf("it arrived at %s", <-arrived)
			}
		})
	}
}

func TestARedirectLeadsNowhere(t *testing.T) {
	arrived := make(chan string, 16)
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { arrived <- r.Host }))
	defer inside.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		_, _, err := post(t, Options{}, workertest.Facts{}, answers(status, "", "Location", inside.URL))
		if f := worker.FailureOf(err); f == nil || f.Class != "permanent" || len(arrived) > 0 {
			t.Errorf("%d: %+v, %d calls at the new place", status, f, len(arrived))
		}
	}
}

// What is allowed by name is called, where the name is private: the refusal
// below is the network's, not the guard's.
func TestANameThatIsAllowedOpensPrivateAddresses(t *testing.T) {
	named := guard{reach: job.Reach{Hosts: []string{"partner.example.com"}}, named: true}
	for address, open := range map[string]bool{"10.0.0.1": true, "192.168.1.1": true, "100.64.0.1": true, "fd00::1": true, "127.0.0.1": false, "::1": false, "169.254.1.1": false, "169.254.170.2": false,
		"fd00:ec2::254": false, "0.0.0.0": false, "224.0.0.1": false, "93.184.216.34": true} {
		if err := named.check(netip.MustParseAddr(address)); (err == nil) != open {
			t.Errorf("%s: %v", address, err)
		}
	}
}
