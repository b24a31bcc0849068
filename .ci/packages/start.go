package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"time"
)

// patience is how long a start may take before it counts as none.
const patience = 30 * time.Second

// startOften starts a function n times under a Runtime API of its own and answers,
// in ascending order, how long each took until it asked for its first event. What it
// would call answers nothing: a start makes no call.
func startOften(ctx context.Context, program string, n int) ([]time.Duration, error) {
	asked := make(chan struct{}, 1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done() // no event comes
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	defer func() { _ = server.Close() }()
	go func() { _ = server.Serve(listener) }()
	var took []time.Duration
	for range n {
		one, err := start(ctx, program, listener.Addr().String(), asked)
		if err != nil {
			return nil, err
		}
		took = append(took, one)
	}
	slices.Sort(took)
	return took, nil
}

// start starts the function once, and ends it.
func start(ctx context.Context, program, api string, asked <-chan struct{}) (time.Duration, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var said bytes.Buffer
	process := exec.CommandContext(ctx, program)
	process.Env = []string{"AWS_LAMBDA_RUNTIME_API=" + api, "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=none", "AWS_SECRET_ACCESS_KEY=none",
		"AWS_ENDPOINT_URL=http://127.0.0.1:1", "AWS_EC2_METADATA_DISABLED=true", "BELFRY_POOL=fast-io", "BELFRY_ARCHIVE_BUCKET=none"}
	process.Stdout, process.Stderr = &said, &said
	began := time.Now()
	if err := process.Start(); err != nil {
		return 0, err
	}
	var failure error
	ended := make(chan struct{})
	go func() {
		failure = process.Wait()
		close(ended)
	}()
	select {
	case <-asked:
		took := time.Since(began)
		_ = process.Process.Kill()
		<-ended
		return took, nil
	case <-ended:
		return 0, fmt.Errorf("%s ended before it asked for an event: %w\n%s", program, failure, said.String())
	}
}
