package conformance

// MotoSQSExceptions name the cases of SQSCases that moto_server is known to
// fail.
func MotoSQSExceptions() Exceptions {
	const unchecked = "moto does not check this and accepts the call"
	return Exceptions{
		"a message received too often moves to the dead-letter queue with its history": "moto moves the message but leaves DeadLetterQueueSourceArn out",
		"an overtaken handle deletes nothing and does not fail":                        "moto lets every handle of a message delete it, so a worker that lost its lease deletes the new owner's message",
		"an overtaken handle does not change the visibility of the newer receipt":      "moto lets every handle of a message change its visibility",
		"the visibility of a message that is not in flight cannot be changed":          "moto hides a visible message again instead of answering MessageNotInflight",
		"a send is refused for an empty body":                                          unchecked,
		"a send is refused for a control character in the body":                        unchecked,
		"a send is refused for an attribute with an empty value":                       unchecked,
		"a send is refused for a deduplication id on a standard queue":                 unchecked,
		"a queue is refused for an attribute out of range":                             unchecked,
		"a queue is refused for an unknown attribute":                                  unchecked,
		"a queue is refused for a dead-letter queue that is not there":                 "moto answers that the queue does not exist, SQS that the policy is invalid",
	}
}
