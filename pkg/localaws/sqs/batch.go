package sqs

import (
	"context"
	"fmt"
	"regexp"
)

var batchID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// checkBatch refuses a whole batch for what is wrong with its ids.
func checkBatch(ids []string) error {
	if len(ids) == 0 {
		return sender("EmptyBatchRequest", legacy+"EmptyBatchRequest", "There should be at least one entry in the request.")
	}
	if len(ids) > 10 {
		return sender("TooManyEntriesInBatchRequest", legacy+"TooManyEntriesInBatchRequest",
			fmt.Sprintf("Maximum number of entries per request are 10. You have sent %d.", len(ids)))
	}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if !batchID.MatchString(id) {
			return sender("InvalidBatchEntryId", legacy+"InvalidBatchEntryId",
				"A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.")
		}
		if seen[id] {
			return sender("BatchEntryIdsNotDistinct", legacy+"BatchEntryIdsNotDistinct", "Id "+id+" repeated.")
		}
		seen[id] = true
	}
	return nil
}

// each carries out the entries of a batch one by one under one lock, sorts the
// outcomes, and commits them together.
func each[Entry, Result any](
	s *Service, queueURL string, entries []Entry, id func(*Entry) string, do func(*Entry) (Result, error),
) (succeeded []Result, failed []entryError, err error) {
	succeeded, failed, err = func() ([]Result, []entryError, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, err := s.find(queueURL); err != nil {
			return nil, nil, err
		}
		ids := make([]string, len(entries))
		for i := range entries {
			ids[i] = id(&entries[i])
		}
		if err := checkBatch(ids); err != nil {
			return nil, nil, err
		}
		for i := range entries {
			result, err := do(&entries[i])
			if err != nil {
				failed = append(failed, failEntry(ids[i], err))
				continue
			}
			succeeded = append(succeeded, result)
		}
		return succeeded, failed, nil
	}()
	if err == nil && len(succeeded) > 0 {
		err = s.commit()
	}
	return succeeded, failed, err
}

type batchOutput[Result any] struct {
	Failed     []entryError `json:",omitempty"`
	Successful []Result     `json:",omitempty"`
}

// doneEntry is all that a delete or a change of visibility answers an entry.
type doneEntry struct {
	ID string `json:"Id"`
}

type sendEntry struct {
	ID string `json:"Id"`
	sending
}

type sendMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []sendEntry
}

type sentEntry struct {
	ID string `json:"Id"`
	sent
}

func (s *Service) sendMessageBatch(_ context.Context, in *sendMessageBatchInput) (*batchOutput[sentEntry], error) {
	total := 0
	for i := range in.Entries {
		total += in.Entries[i].size()
	}
	if total > maxMessage {
		return nil, sender("BatchRequestTooLong", legacy+"BatchRequestTooLong",
			fmt.Sprintf("Batch requests cannot be longer than %d bytes. You have sent %d bytes.", maxMessage, total))
	}
	succeeded, failed, err := each(s, in.QueueURL, in.Entries,
		func(e *sendEntry) string { return e.ID },
		func(e *sendEntry) (sentEntry, error) {
			out, err := s.send(in.QueueURL, &e.sending)
			if err != nil {
				return sentEntry{}, err
			}
			return sentEntry{ID: e.ID, sent: *out}, nil
		})
	if err != nil {
		return nil, err
	}
	return &batchOutput[sentEntry]{Failed: failed, Successful: succeeded}, nil
}

type deleteEntry struct {
	ID            string `json:"Id"`
	ReceiptHandle string
}

type deleteMessageBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []deleteEntry
}

func (s *Service) deleteMessageBatch(_ context.Context, in *deleteMessageBatchInput) (*batchOutput[doneEntry], error) {
	succeeded, failed, err := each(s, in.QueueURL, in.Entries,
		func(e *deleteEntry) string { return e.ID },
		func(e *deleteEntry) (doneEntry, error) {
			return doneEntry{ID: e.ID}, s.delete(in.QueueURL, e.ReceiptHandle)
		})
	if err != nil {
		return nil, err
	}
	return &batchOutput[doneEntry]{Failed: failed, Successful: succeeded}, nil
}

type visibilityEntry struct {
	ID                string `json:"Id"`
	ReceiptHandle     string
	VisibilityTimeout *int
}

type changeVisibilityBatchInput struct {
	QueueURL string `json:"QueueUrl"`
	Entries  []visibilityEntry
}

func (s *Service) changeVisibilityBatch(_ context.Context, in *changeVisibilityBatchInput) (*batchOutput[doneEntry], error) {
	succeeded, failed, err := each(s, in.QueueURL, in.Entries,
		func(e *visibilityEntry) string { return e.ID },
		func(e *visibilityEntry) (doneEntry, error) {
			return doneEntry{ID: e.ID}, s.changeOne(in.QueueURL, e.ReceiptHandle, e.VisibilityTimeout)
		})
	if err != nil {
		return nil, err
	}
	return &batchOutput[doneEntry]{Failed: failed, Successful: succeeded}, nil
}
