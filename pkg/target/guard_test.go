package target

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestGuard(t *testing.T) {
	allowTen := job.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	everything := job.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}
	var nothing job.Reach
	rows := map[string]struct {
		address string
		allow   job.Reach
		kind    string // "" = let through
	}{
		"a public IPv4 address":                  {"93.184.216.34", nothing, ""},
		"a public IPv6 address":                  {"2606:2800:220:1::1", nothing, ""},
		"loopback":                               {"127.0.0.1", nothing, "loopback"},
		"all of loopback":                        {"127.255.0.9", nothing, "loopback"},
		"IPv6 loopback":                          {"::1", nothing, "loopback"},
		"loopback in IPv6 clothing":              {"::ffff:127.0.0.1", nothing, "loopback"},
		"the instance metadata service":          {"169.254.169.254", nothing, "link-local"},
		"the metadata service in IPv6 clothing":  {"::ffff:169.254.169.254", nothing, "link-local"},
		"the metadata service by translation":    {"64:ff9b::a9fe:a9fe", nothing, "link-local"},
		"the metadata service by 6to4":           {"2002:a9fe:a9fe::1", nothing, "link-local"},
		"the metadata service, old form":         {"::a9fe:a9fe", nothing, "link-local"},
		"the metadata service over IPv6":         {"fd00:ec2::254", nothing, "private"},
		"10/8":                                   {"10.0.0.1", nothing, "private"},
		"172.16/12":                              {"172.31.255.255", nothing, "private"},
		"beside 172.16/12":                       {"172.32.0.1", nothing, ""},
		"192.168/16":                             {"192.168.1.1", nothing, "private"},
		"carrier-grade NAT":                      {"100.64.0.1", nothing, "shared by a carrier"},
		"beside carrier-grade NAT":               {"100.128.0.1", nothing, ""},
		"unspecified":                            {"0.0.0.0", nothing, "unspecified"},
		"IPv6 unspecified":                       {"::", nothing, "unspecified"},
		"this network":                           {"0.1.2.3", nothing, "of this network"},
		"multicast":                              {"239.1.1.1", nothing, "multicast"},
		"IPv6 multicast":                         {"ff0e::1", nothing, "multicast"},
		"IPv6 link-local with a zone":            {"fe80::1%eth0", nothing, "link-local"},
		"broadcast":                              {"255.255.255.255", nothing, "reserved"},
		"a network that is allowed":              {"10.1.2.3", allowTen, ""},
		"allowed in IPv6 clothing":               {"::ffff:10.1.2.3", allowTen, ""},
		"beside the network that is allowed":     {"10.2.0.1", allowTen, "private"},
		"loopback where it is allowed":           {"127.0.0.1", Loopback(), ""},
		"metadata where loopback is allowed":     {"169.254.169.254", Loopback(), "link-local"},
		"metadata where everything is allowed":   {"169.254.169.254", everything, "link-local, where the platform hands out credentials"},
		"a task's credentials":                   {"169.254.170.2", everything, "link-local, where the platform hands out credentials"},
		"a task's credentials in clothing":       {"::ffff:169.254.170.2", everything, "link-local, where the platform hands out credentials"},
		"a task's credentials by translation":    {"64:ff9b::a9fe:aa02", everything, "link-local, where the platform hands out credentials"},
		"a pod's credentials":                    {"169.254.170.23", everything, "link-local, where the platform hands out credentials"},
		"IPv6 metadata where all is allowed":     {"fd00:ec2::254", everything, "private, where the platform hands out credentials"},
		"a pod's credentials over IPv6":          {"fd00:ec2::23", everything, "private, where the platform hands out credentials"},
		"link-local where everything is allowed": {"169.254.1.1", everything, ""},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			err := guard{reach: row.allow}.check(netip.MustParseAddr(row.address))
			if row.kind == "" && err != nil || row.kind != "" && (err == nil || !strings.Contains(err.Error(), " is "+row.kind)) {
				t.Errorf("%s: %v, want %q", row.address, err, row.kind)
			}
		})
	}
}

func TestNoClothingGetsAPrivateAddressThrough(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tail := rapid.SliceOfN(rapid.Byte(), 3, 3).Draw(t, "tail")
		plain := [4]byte{rapid.SampledFrom([]byte{10, 127, 0, 224, 240}).Draw(t, "first"), tail[0], tail[1], tail[2]}
		mapped := netip.AddrFrom4(plain).As16()
		var sixTo4, nat64 [16]byte
		copy(sixTo4[:], []byte{0x20, 0x02, plain[0], plain[1], plain[2], plain[3]})
		copy(nat64[:], []byte{0, 0x64, 0xff, 0x9b})
		copy(nat64[12:], plain[:])
		for _, a := range []netip.Addr{netip.AddrFrom4(plain), netip.AddrFrom16(mapped), netip.AddrFrom16(sixTo4), netip.AddrFrom16(nat64)} {
			if (guard{}).check(a) == nil {
				t.Fatalf("%s gets through", a)
			}
		}
	})
}

func TestGuardRefusesWhatItCannotRead(t *testing.T) {
	for _, address := range []string{"", "example.com:80", "127.0.0.1", "93.184.216.34:x"} {
		if (guard{}).control("tcp4", address, nil) == nil {
			t.Errorf("%q gets through", address)
		}
	}
	if (guard{}).control("unix", "/run/docker.sock", nil) == nil {
		t.Error("a socket of the machine gets through")
	}
}
