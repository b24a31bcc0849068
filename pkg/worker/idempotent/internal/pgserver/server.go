//go:build unix

package pgserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Server is a running PostgreSQL.
type Server struct {
	dir   string
	alive io.Closer // closing it ends the server
	ended chan error
}

// Run runs a package's tests between start and stop of a server, and answers what
// the process is to exit with: TestMain's body. Where no server can be started
// that is a failure, with the way to install one on stderr.
func Run(tests func(*Server) int) int {
	server, err := start(context.Background())
	if err != nil {
		fmt.Fprintf(os.Stderr, "these tests need a PostgreSQL server that they can start: %v\n", err)
		return 1
	}
	code := tests(server)
	if err := server.stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stop PostgreSQL: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Address is what pgx connects to, as a superuser.
func (s *Server) Address() string { return "host=" + s.dir + " user=postgres dbname=postgres" }

const install = "install it with `make deps`, or your system's package (Debian: apt-get install postgresql)"

// packaged is where Debian's packages put the programs, a directory for each version.
const packaged = "/usr/lib/postgresql/*/bin/initdb"

// binaries is the directory of the programs: that of the path, else the newest packaged one.
func binaries(packaged string) (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob(packaged)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("no initdb on the path nor at %s: %s", packaged, install)
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	return filepath.Dir(found[0]), nil
}

func version(initdb string) int {
	n, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return n
}

// other is whom the server runs as when we are root, as which it refuses to; nil = ourselves.
func other() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody: " + install)
}

// home makes a directory that the server's user owns. Its path is short, since that
// of a socket may have 107 bytes, and each directory on the way to it is open to others.
func home(as *syscall.Credential) (string, error) {
	dir, err := os.MkdirTemp("/tmp", "belfry-pg-")
	if err == nil && as != nil {
		err = os.Chown(dir, int(as.Uid), int(as.Gid))
	}
	return dir, err
}

func start(ctx context.Context) (*Server, error) {
	bin, err := binaries(packaged)
	if err != nil {
		return nil, err
	}
	as, err := other()
	if err != nil {
		return nil, err
	}
	dir, err := home(as)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, ended: make(chan error, 1)}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Credential: as, Setpgid: true}
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "TZ=UTC"}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if said, err := run(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N").CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w: %s", err, said), os.RemoveAll(dir))
	}
	// The shell ends the server and removes its files when our end of the pipe closes:
	// when stop says so, or when this process is no more.
	const keeper = `dir=$1; shift; "$@" & pid=$!; (cat; kill -INT "$pid") <&3 >/dev/null 2>&1 & wait "$pid"; code=$?; rm -rf "$dir"; exit "$code"`
	server := run("/bin/sh", "-c", keeper, "keeper", dir, filepath.Join(bin, "postgres"), "-D", data, "-k", dir,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60", "-c", "log_min_messages=log")
	return s, s.serve(server)
}

// serve starts the server and returns once it takes connections.
func (s *Server) serve(cmd *exec.Cmd) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	cmd.ExtraFiles = []*os.File{theirs} // fd 3
	s.alive = ours
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	_ = theirs.Close()
	ready := make(chan struct{})
	var said strings.Builder
	go func() {
		lines := bufio.NewScanner(log)
		up := false
		for lines.Scan() {
			if !up {
				said.WriteString(lines.Text() + "\n")
			}
			if !up && strings.Contains(lines.Text(), "database system is ready to accept connections") {
				up = true
				close(ready)
			}
		}
		s.ended <- cmd.Wait()
	}()
	select {
	case <-ready:
		return nil
	case err := <-s.ended:
		return errors.Join(fmt.Errorf("PostgreSQL ended at once (%w): %s", errors.Join(err, errors.New("it said")), said.String()), os.RemoveAll(s.dir))
	}
}

func (s *Server) stop() error {
	return errors.Join(s.alive.Close(), <-s.ended, os.RemoveAll(s.dir))
}
