package control

import (
	"context"
	"errors"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// A verb writes which calendars its job keeps to in the same transaction as the head.
// What was written can be gone all the same: tables are restored one by one. Then a
// calendar does not know a job that names it; a change would not reach that job, and a
// delete would not be refused.

// mendUses writes down again which calendars a job keeps to, where that is not known.
func (s *Service) mendUses(ctx context.Context, head *job.Head) error {
	for _, name := range head.Uses() {
		if _, err := s.mendUse(ctx, head, name); err != nil {
			return err
		}
	}
	return nil
}

// mendUse writes down again that a job keeps to a calendar, and tells the version that
// it pinned; 0 when there was nothing to mend.
func (s *Service) mendUse(ctx context.Context, head *job.Head, name string) (int, error) {
	known, err := s.Calendars.CalendarUse(ctx, head.Ref, name)
	if err != nil || known != 0 {
		return 0, err
	}
	version, err := s.pinnedVersion(ctx, head, name)
	if err != nil || version == 0 {
		return 0, err
	}
	err = s.Calendars.MendCalendarUse(ctx, head, name, version)
	if errors.Is(err, job.ErrLost) {
		return 0, nil // a verb came, and wrote it
	}
	return version, err
}

// pinnedVersion is the version of a calendar that the revision of a head pinned, or the
// definition that waits; the older one of both, 0 when neither did.
func (s *Service) pinnedVersion(ctx context.Context, head *job.Head, name string) (version int, err error) {
	rev, err := s.Jobs.Revision(ctx, head.Ref, head.Revision)
	if err != nil {
		return 0, err
	}
	var waiting *job.Revision
	if !head.SwitchAt.IsZero() {
		if waiting, err = s.Jobs.Waiting(ctx, head.Ref); err != nil {
			return 0, err
		}
	}
	for _, r := range []*job.Revision{rev, waiting} {
		if r == nil {
			continue
		}
		for _, pinned := range r.Calendars {
			if pinned.Name == name && (version == 0 || pinned.Version < version) {
				version = pinned.Version
			}
		}
	}
	return version, nil
}
