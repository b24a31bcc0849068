package settings

import (
	"errors"
	"net/mail"
	"strings"
)

func (s Settings) checkAlarms() error {
	var faults []error
	for _, address := range s.Alarms.Emails {
		if parsed, err := mail.ParseAddress(address); err != nil || parsed.Address != address || !strings.Contains(address[strings.LastIndexByte(address, '@'):], ".") {
			faults = append(faults, refusal("alarms.emails", address, "addresses such as ops@example.com", "is no address to send alarms to"))
		}
	}
	if s.Alarms.TopicARN != "" && len(s.Alarms.Emails) > 0 {
		faults = append(faults, refusal("alarms.emails", strings.Join(s.Alarms.Emails, ", "), "none with alarms.topic_arn",
			"would be told nothing: the topic of alarms.topic_arn has subscriptions of its own; subscribe them there"))
	}
	return errors.Join(faults...)
}
