//go:build unix

package devcommand

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// roleVariable makes the test binary a dev server, or a program that runs one.
const roleVariable = "DEVCOMMAND_TEST_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "silent":
		serve(os.Getenv("PORT"), false)
	case "prints", "stubborn":
		if role == "stubborn" {
			signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		}
		serve("0", true)
	case "foreign": // names the server of another before its own
		fmt.Println("proxying /api to", os.Getenv("OTHER"))
		serve("0", true)
	case "fails":
		fmt.Println("\x1b[31mcannot find package\x1b[39m")
		fmt.Fprintln(os.Stderr, "giving up")
		os.Exit(3)
	case "parent": // runs one, and is killed
		c, err := Start(Options{Args: []string{os.Args[0]}, Env: append(os.Environ(), roleVariable+"=stubborn")})
		if err != nil {
			panic(err)
		}
		s := c.Wait(context.Background())
		fmt.Println(s.Address)
		select {}
	}
}

func serve(port string, prints bool) {
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	if prints {
		fmt.Printf("  \x1b[32m➜\x1b[39m  Local: http://%s/\n", l.Addr())
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_ = conn.Close()
	}
}

// start starts the test binary as a role.
func start(t *testing.T, role string, env ...string) (*Command, *lines) {
	t.Helper()
	seen := &lines{}
	c, err := Start(Options{
		Args: []string{os.Args[0]}, Env: append(append(os.Environ(), roleVariable+"="+role), env...), OnLine: seen.add,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, seen
}

type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, line.Plain)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

func listens(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// goes waits until no program listens at an address.
func goes(t *testing.T, address string) {
	t.Helper()
	testmachine.Await(t, "nothing listens at "+address, func() bool { return !listens(address) })
}

func TestAddress(t *testing.T) {
	for _, role := range []string{"silent", "prints"} {
		t.Run(role, func(t *testing.T) {
			c, _ := start(t, role)
			s := c.Wait(t.Context())
			if s.Phase != Ready || !listens(s.Address) {
				t.Errorf("it is %+v", s)
			}
		})
	}
}

// TestForeignAddress: an API that the command names is not the dev server, even if it answers.
func TestForeignAddress(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		testmachine.Lacks(t, "a list of whose each port is", err)
	}
	api, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	c, seen := start(t, "foreign", "OTHER=http://"+api.Addr().String())
	if s := c.Wait(t.Context()); s.Phase != Ready || s.Address == api.Addr().String() {
		t.Errorf("it is %+v, after\n%s", s, seen)
	}
}

func TestEnd(t *testing.T) {
	c, _ := start(t, "fails")
	s := c.Wait(t.Context())
	if s.Phase != Ended || s.Exit != "exit status 3" || strings.Join(s.Lines, ";") != "cannot find package;giving up" &&
		strings.Join(s.Lines, ";") != "giving up;cannot find package" {
		t.Errorf("it is %+v", s)
	}
}

func TestRestart(t *testing.T) {
	c, _ := start(t, "prints")
	before := c.Wait(t.Context())
	if err := c.Restart(); err != nil {
		t.Fatal(err)
	}
	after := c.Wait(t.Context())
	if after.Phase != Ready || after.Address == before.Address || !listens(after.Address) || listens(before.Address) {
		t.Errorf("it was %+v and is %+v", before, after)
	}
}

// TestClose: a command that ignores the request to end is killed, with its child processes.
func TestClose(t *testing.T) {
	c, err := Start(Options{
		Args: []string{"sh", "-c", `trap "" TERM; "$0"; true`, os.Args[0]}, Env: append(os.Environ(), roleVariable+"=stubborn"),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := c.Wait(t.Context())
	c.Close()
	if s.Phase != Ready || listens(s.Address) {
		t.Errorf("it was %+v, and listens still", s)
	}
}

// TestParentKilled: the command does not outlive the program that started it.
func TestParentKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), roleVariable+"=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 100)
	n, err := io.ReadAtLeast(out, buffer, len("127.0.0.1:1\n"))
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(buffer[:n]))
	if _, port, err := net.SplitHostPort(address); err != nil || port == strconv.Itoa(0) || !listens(address) {
		t.Fatalf("it listens at %q", address)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	goes(t, address)
}
