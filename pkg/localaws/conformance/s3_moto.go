package conformance

// MotoS3Exceptions name the cases of S3Cases that moto_server is known to fail.
func MotoS3Exceptions() Exceptions {
	const unchecked = "moto does not check this and accepts the call"
	return Exceptions{
		"a delete under If-Match * takes any object":                  "moto takes the star for an entity tag and answers 412",
		"a malformed range is passed over":                            "moto reads a range of lines as one of bytes, and answers 500 where there is no =",
		"an object keeps the checksum that the client adds by itself": "moto keeps a checksum only when x-amz-sdk-checksum-algorithm names it",
		"bytes that do not fit their checksum are refused":            "moto keeps what it is told without comparing",
		"bytes that do not fit their Content-MD5 are refused":         "moto does not look at Content-MD5",
		"a put is refused for a key that is too long":                 unchecked,
		"a put is refused for too much metadata":                      unchecked,
		"a put is refused for an entity tag in If-None-Match":         unchecked,
		"a bucket is refused for its name":                            unchecked,
		"a list is refused for a token that was never given":          unchecked,
		"a call is refused for another account's bucket":              unchecked,
	}
}
