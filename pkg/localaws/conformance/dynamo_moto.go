package conformance

// MotoDynamoDBExceptions name the cases of DynamoDBCases that moto_server is
// known to fail.
func MotoDynamoDBExceptions() Exceptions {
	return Exceptions{}
}
