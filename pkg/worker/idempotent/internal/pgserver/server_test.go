//go:build unix

package pgserver_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/pgserver"
)

const childAsked = "BELFRY_PGSERVER_CHILD"

// As a child this binary starts a server, says where, and stays.
func TestMain(m *testing.M) {
	if os.Getenv(childAsked) == "" {
		os.Exit(m.Run())
	}
	os.Exit(pgserver.Run(func(s *pgserver.Server) int {
		fmt.Println(s.Address())
		select {}
	}))
}

func TestTheServerEndsWithAProcessThatIsKilled(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env, child.Stderr = append(os.Environ(), childAsked+"=1"), os.Stderr
	said, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	if !lines.Scan() {
		t.Fatal("the child started no server")
	}
	conn, err := pgx.Connect(t.Context(), lines.Text())
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	// Nobody notifies: what ends the wait is the server's end.
	if _, err := conn.WaitForNotification(t.Context()); err == nil || t.Context().Err() != nil {
		t.Errorf("the session lives on: %v", err)
	}
}
