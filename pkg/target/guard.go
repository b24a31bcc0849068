package target

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// RefusedAddressError says that a webhook's host resolved to an address that
// webhooks must not reach.
type RefusedAddressError struct {
	Address netip.Addr
	Kind    string // what makes it one of those: loopback, private, …
}

// Error names the address and the setting that would allow it.
func (e *RefusedAddressError) Error() string {
	return fmt.Sprintf("the webhook's address %s is %s; webhooks reach public addresses and those in the setting webhook_allow", e.Address, e.Kind)
}

// guard decides which addresses webhooks may connect to. It is asked with the
// resolved address at the moment of connecting, so that no name can change its
// meaning between a check and its use.
type guard struct {
	reach job.Reach
	named bool // the host that is being called is allowed by its name
}

// dial implements http.Transport.DialContext by way of dialer.
func (g guard) dial(dialer net.Dialer) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		own, asked := dialer, guard{reach: g.reach, named: g.reach.Named(host)}
		own.Control = asked.control
		return own.DialContext(ctx, network, address)
	}
}

// control implements net.Dialer.Control.
func (g guard) control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("webhooks speak TCP, not %s", network)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &net.AddrError{Err: "no address and port", Addr: job.Shorten(address)}
	}
	return g.check(at.Addr())
}

// check refuses an address that is not public, unless it is allowed. An IPv4
// address in IPv6 clothing is judged as the IPv4 address.
func (g guard) check(a netip.Addr) error {
	a = inner(a.Unmap().WithZone(""))
	kind := notPublic(a)
	switch {
	case kind == "":
		return nil
	case slices.Contains(metadata, a):
		return &RefusedAddressError{Address: a, Kind: kind + ", where the platform hands out credentials"}
	case g.named && (kind == kindPrivate || kind == kindCarrier):
		return nil
	}
	for _, network := range g.reach.Networks {
		if network.Contains(a) {
			return nil
		}
	}
	return &RefusedAddressError{Address: a, Kind: kind}
}

// The kinds of addresses that a name may open.
const (
	kindPrivate = "private"
	kindCarrier = "shared by a carrier"
)

// metadata are where EC2, ECS and EKS hand out credentials: no setting opens them.
var metadata = []netip.Addr{netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("169.254.170.23"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd00:ec2::23")}

// special are networks that are not public, beyond those that netip knows.
var special = []struct {
	network netip.Prefix
	kind    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "of this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), kindCarrier},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "translated locally"},
	{netip.MustParsePrefix("100::/64"), "a black hole"},
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
}

func notPublic(a netip.Addr) string {
	switch {
	case !a.IsValid() || a.IsUnspecified():
		return "unspecified"
	case a.IsLoopback():
		return "loopback"
	case a.IsPrivate():
		return kindPrivate
	case a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast():
		return "link-local"
	case a.IsMulticast():
		return "multicast"
	}
	for _, s := range special {
		if s.network.Contains(a) {
			return s.kind
		}
	}
	return ""
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4 = netip.MustParsePrefix("2002::/16")
	compat = netip.MustParsePrefix("::/96") // the deprecated IPv4-compatible form
)

// inner is the IPv4 address that a translated or tunnelled IPv6 address leads
// to; any other address is itself.
func inner(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case nat64.Contains(a), compat.Contains(a) && !a.IsUnspecified() && !a.IsLoopback():
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}
