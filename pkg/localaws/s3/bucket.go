package s3

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

const (
	// home is the region that has no location constraint.
	home = "us-east-1"
	// maxConfiguration is the longest document that describes a new bucket.
	maxConfiguration = 64 << 10
)

var bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// createBucket makes a bucket. One that is there is an error, but not in
// us-east-1.
func (s *Service) createBucket(r *request) (*answer, error) {
	if !bucketName.MatchString(r.Bucket) || strings.Contains(r.Bucket, "..") {
		return nil, &fault{status: http.StatusBadRequest, code: "InvalidBucketName", message: "The specified bucket is not valid.",
			members: []member{{"BucketName", r.Bucket}}}
	}
	if err := s.checkLocation(r); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(storedBucket{Created: time.Now().UnixMilli()})
	if err != nil {
		return nil, err
	}
	err = s.engine.Update(func(tx kv.Tx) error {
		if tx.Get(bucketSpace, []byte(r.Bucket)) == nil {
			tx.Put(bucketSpace, []byte(r.Bucket), raw)
			return nil
		}
		if s.options.Region == home {
			return nil
		}
		return &fault{status: http.StatusConflict, code: "BucketAlreadyOwnedByYou", members: []member{{"BucketName", r.Bucket}},
			message: "Your previous request to create the named bucket succeeded and you already own it."}
	})
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusOK, header: map[string]string{"Location": "/" + r.Bucket}}, nil
}

// checkLocation reads the document that says where the bucket shall be, and
// refuses everything else that it says.
func (s *Service) checkLocation(r *request) error {
	var wanted struct {
		XMLName  xml.Name `xml:"CreateBucketConfiguration"`
		Location string   `xml:"LocationConstraint"`
		Others   []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	if r.Body != nil {
		err := xml.NewDecoder(io.LimitReader(r.Body, maxConfiguration)).Decode(&wanted)
		if err != nil && !errors.Is(err, io.EOF) {
			return &fault{status: http.StatusBadRequest, code: "MalformedXML",
				message: "The XML you provided was not well-formed or did not validate against our published schema: " + err.Error()}
		}
	}
	switch {
	case len(wanted.Others) > 0:
		return notImplemented("the member " + wanted.Others[0].XMLName.Local + " of CreateBucket's configuration")
	case wanted.Location == s.options.Region && wanted.Location != home, wanted.Location == "" && s.options.Region == home:
		return nil
	case wanted.Location == home:
		return &fault{status: http.StatusBadRequest, code: "InvalidLocationConstraint", message: "The specified location-constraint is not valid"}
	case wanted.Location == "":
		wanted.Location = "unspecified"
	}
	return &fault{status: http.StatusBadRequest, code: "IllegalLocationConstraintException",
		message: "The " + wanted.Location + " location constraint is incompatible for the region specific endpoint this request was sent to."}
}

func (s *Service) headBucket(r *request) (*answer, error) {
	err := s.engine.View(func(tx kv.Tx) error { return requireBucket(tx, r.Bucket) })
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusOK, header: map[string]string{"X-Amz-Bucket-Region": s.options.Region, "Content-Type": "application/xml"}}, nil
}
