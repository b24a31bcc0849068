package container

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// How the platform is told not to stop a container that is at work. It stops one
// when a pool shrinks or is deployed anew, and gives it two minutes then, which an
// execution of hours does not fit in. A protection ends by itself, in case the
// worker dies without a word.
const (
	protectEvery = 15 * time.Second
	protectFor   = 60 * time.Minute
	protectAgain = 30 * time.Minute // after that long it is renewed
	protectReply = 5 * time.Second  // within which the platform's agent answers
)

// protection keeps the platform's word about this container the same as whether
// anything runs in it. Without an agent, as anywhere but on ECS, it does nothing.
type protection struct {
	agent   string // ECS_AGENT_URI
	running func() int
	clock   interface {
		Now() time.Time
		Wait(ctx context.Context, until time.Time) error
	}
	client *http.Client
	log    *slog.Logger

	asked time.Time // when it was last granted; zero = it is not
}

// run keeps the protection until ctx ends, and takes it back then.
func (p *protection) run(ctx context.Context) {
	if p.agent == "" {
		return
	}
	for {
		p.look(ctx)
		if p.clock.Wait(ctx, p.clock.Now().Add(protectEvery)) != nil {
			break
		}
	}
	if !p.asked.IsZero() {
		p.tell(context.WithoutCancel(ctx), false)
	}
}

// look asks for what fits the moment, unless it is there already.
func (p *protection) look(ctx context.Context) {
	switch busy := p.running() > 0; {
	case busy && (p.asked.IsZero() || p.clock.Now().Sub(p.asked) >= protectAgain):
		p.tell(ctx, true)
	case !busy && !p.asked.IsZero():
		p.tell(ctx, false)
	}
}

// tell says it to the agent. One that refuses is asked again at the next look.
func (p *protection) tell(ctx context.Context, protect bool) {
	if err := p.put(ctx, protect); err != nil {
		p.log.Warn("the platform does not change the protection of this container", slog.Bool("protect", protect), slog.Any("error", err))
		return
	}
	p.asked = time.Time{}
	if protect {
		p.asked = p.clock.Now()
	}
}

func (p *protection) put(ctx context.Context, protect bool) error {
	ctx, stop := context.WithTimeout(ctx, protectReply)
	defer stop()
	wish := map[string]any{"ProtectionEnabled": protect}
	if protect {
		wish["ExpiresInMinutes"] = int(protectFor / time.Minute)
	}
	body, err := json.Marshal(wish)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, p.agent+"/task-protection/v1/state", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := p.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err != nil {
		return err
	}
	// The agent tells some refusals in the body of a 200.
	var reply struct {
		Failure *struct{ Reason string } `json:"failure"`
	}
	if answer.StatusCode != http.StatusOK || json.Unmarshal(said, &reply) != nil || reply.Failure != nil {
		return fmt.Errorf("the agent answers %s: %s", answer.Status, said)
	}
	return nil
}
