//go:build unix && !linux

package workerd

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// tie spares the program the signals of the terminal, so that running requests may end.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (f *front) listen(folder string) (args []string, files []*os.File, err error) {
	return f.listenUnix(folder)
}

// guardScript ends the program when the pipe of its standard input closes, as the system closes it when we end.
const guardScript = `read -r _; kill -9 "$1"`

// pipeGuard is a small program that ends another one.
type pipeGuard struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// guard starts a program that ends p when we end: this system does not do so by itself.
func guard(p *os.Process) (io.Closer, error) {
	g := &pipeGuard{cmd: exec.Command("/bin/sh", "-c", guardScript, "guard", strconv.Itoa(p.Pid))} //nolint:noctx // Close ends it
	g.cmd.Env = []string{}
	tie(g.cmd)
	pipe, err := g.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	g.pipe = pipe
	return g, g.cmd.Start()
}

// Close ends the guard: its program has ended.
func (g *pipeGuard) Close() error {
	err := g.cmd.Process.Kill() // before the pipe closes: the number may be another program's by now
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
	return err
}
