package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MaxPayloadObject bounds a payload that is referred to, in bytes.
const MaxPayloadObject = 16 << 20

// What becomes of an attempt whose payload cannot be had.
const (
	CodePayloadChanged   = "PAYLOAD_CHANGED"   // it is not what the execution began with
	CodePayloadForbidden = "PAYLOAD_FORBIDDEN" // the tenant may not refer there
	CodePayloadTooLarge  = "PAYLOAD_TOO_LARGE" // beyond MaxPayloadObject
	CodePayloadUnread    = "PAYLOAD_UNREAD"    // it could not be read, or is not there: tried again
)

// payloadsFolder begins the names of payloads in the installation's own bucket.
const payloadsFolder = "payloads/"

// PayloadRef says where a payload lies: an object of S3.
type PayloadRef struct {
	Bucket string
	Key    string
}

// OwnPayload is where the installation keeps a tenant's payload of that SHA-256.
func OwnPayload(bucket, tenant, digest string) PayloadRef {
	return PayloadRef{Bucket: bucket, Key: payloadsFolder + tenant + "/" + digest}
}

// String is the reference as it is written, s3://bucket/key.
func (r PayloadRef) String() string { return "s3://" + r.Bucket + "/" + r.Key }

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	hexDigest  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// IsDigest reports whether text is a SHA-256 in lower-case hex.
func IsDigest(text string) bool { return hexDigest.MatchString(text) }

// ParsePayloadRef reads s3://bucket/key. The error is a *Error about payload_ref.
func ParsePayloadRef(text string) (PayloadRef, error) {
	rest, is := strings.CutPrefix(text, "s3://")
	bucket, key, _ := strings.Cut(rest, "/")
	r := PayloadRef{Bucket: bucket, Key: key}
	switch {
	case !is || !bucketName.MatchString(bucket) || key == "" || strings.HasSuffix(key, "/"):
		return r, invalid("payload_ref", Shorten(text), "s3://bucket/key", "the reference names no object of S3", "write it as s3://bucket/key; belfry payload put prints one")
	case len(key) > 1024 || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }):
		return r, invalid("payload_ref", Shorten(text), "1024 bytes of UTF-8 without control characters", "the reference has a key that no object has", "use another name")
	}
	return r, nil
}

// PayloadRules say which references a tenant may make.
type PayloadRules struct {
	// Own is the installation's own bucket, of which payloads/<tenant>/ is open to
	// each tenant; empty: there is none.
	Own string
	// Allowed are beginnings of references by tenant, such as s3://bucket/prefix/;
	// those of tenant * are open to all.
	Allowed map[string][]string
}

// ReadPayloadRules reads {"tenant": ["s3://bucket/prefix/"]}. Each beginning ends
// with a slash: s3://acme/in would open s3://acme/inner too.
func ReadPayloadRules(text []byte) (map[string][]string, error) {
	var allowed map[string][]string
	if err := json.Unmarshal(text, &allowed); err != nil {
		return nil, fmt.Errorf("is no JSON of the form {\"tenant\": [\"s3://bucket/prefix/\"]}: %w", err)
	}
	return allowed, CheckPayloadRules(allowed)
}

// CheckPayloadRules refuses rules that name no tenant or no beginning of references.
func CheckPayloadRules(allowed map[string][]string) error {
	for _, tenant := range slices.Sorted(maps.Keys(allowed)) {
		if tenant != "*" && CheckName("tenant", tenant) != nil {
			return invalid("payloads", Shorten(tenant), "names of tenants, or * for all", "\""+Shorten(tenant)+"\" is no tenant", "name a tenant")
		}
		for _, beginning := range allowed[tenant] {
			rest, is := strings.CutPrefix(beginning, "s3://")
			bucket, _, folder := strings.Cut(rest, "/")
			if !is || !folder || !bucketName.MatchString(bucket) || !strings.HasSuffix(beginning, "/") || strings.ContainsAny(rest, "*?") {
				return invalid("payloads", Shorten(beginning), "s3://bucket/ or s3://bucket/prefix/", "\""+Shorten(beginning)+"\" does not begin references", "end it with a slash, and leave out * and ?")
			}
		}
	}
	return nil
}

// Check refuses a reference that the tenant may not make. Its Bound lists where the
// tenant may refer to.
func (p PayloadRules) Check(tenant string, r PayloadRef) error {
	open := p.open(tenant)
	for _, beginning := range open {
		if strings.HasPrefix(r.String(), beginning) {
			return nil
		}
	}
	bound := strings.Join(open, ", ")
	if bound == "" {
		bound = "none: no bucket of its own is known here (BELFRY_BUCKET), and no other is allowed (BELFRY_PAYLOADS)"
	}
	return invalid("payload_ref", Shorten(r.String()), bound, "tenant \""+tenant+"\" may not refer to "+Shorten(r.String()),
		"store the payload with belfry payload put, or have its place allowed (payloads in the settings)")
}

func (p PayloadRules) open(tenant string) []string {
	var open []string
	if p.Own != "" {
		open = append(open, OwnPayload(p.Own, tenant, "").String())
	}
	open = append(open, p.Allowed[tenant]...)
	return append(open, p.Allowed["*"]...)
}

// Pinned is the SHA-256 that a reference itself promises: the name of what the
// installation stored. Empty: it promises none.
func (p PayloadRules) Pinned(tenant string, r PayloadRef) string {
	name, own := strings.CutPrefix(r.String(), OwnPayload(p.Own, tenant, "").String())
	if p.Own == "" || !own || !IsDigest(name) {
		return ""
	}
	return name
}

// Upload is a request that was signed for somebody else to send.
type Upload struct {
	Method  string
	URL     string
	Headers map[string]string // to be sent as they are
	Until   time.Time         // it is refused afterwards
}

// checkPayloadRef refuses a reference that is none, and one beside a payload or for
// a target that cannot take what it leads to.
func (d Definition) checkPayloadRef() error {
	if d.PayloadRef == "" {
		return nil
	}
	if len(d.Payload) > 0 {
		return invalid("payload_ref", Shorten(d.PayloadRef), "payload or payload_ref", "the job has a payload and a reference to one", "keep one of them")
	}
	switch kind := d.Target.Kind(); kind {
	case "handler", "webhook", "log":
	default:
		return invalid("payload_ref", Shorten(d.PayloadRef), "with the targets handler, webhook and log", "a target "+kind+" takes its payload as it is written",
			"pass the reference on inside the payload: {\"data\": \""+Shorten(d.PayloadRef)+"\"}")
	}
	_, err := ParsePayloadRef(d.PayloadRef)
	return err
}
