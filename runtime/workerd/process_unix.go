//go:build unix && !linux

package workerd

import (
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// tie keeps the terminal's signals from the program, so that running requests can finish.
func tie(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (f *front) listen(folder string) (args []string, files []*os.File, err error) {
	return f.listenUnix(folder)
}

// guardScript ends the program when the pipe of its standard input closes: the system closes it when this process ends.
const guardScript = `read -r _; kill -9 "$1"`

// pipeGuard is a small program that ends another one.
type pipeGuard struct {
	cmd  *exec.Cmd
	pipe io.Closer
}

// guard starts a program that ends p when this process ends, which this system does not do by itself.
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
	err := g.cmd.Process.Kill() // before the pipe closes, since another program may have the process number by now
	_ = g.cmd.Wait()
	_ = g.pipe.Close()
	return err
}
