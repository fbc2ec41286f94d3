package workerd_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

const orphanVariable = "PAGES_TEST_ORPHAN"

// TestOrphan: workerd ends when the process that started it is killed.
func TestOrphan(t *testing.T) {
	if os.Getenv(orphanVariable) != "" {
		var c console
		fmt.Printf("workerd is %d\n", start(t, options(&c)).Process())
		select {}
	}
	t.Parallel()
	program(t)
	run := exec.Command(os.Args[0], "-test.run=^TestOrphan$", "-test.v")
	run.Env = append(os.Environ(), orphanVariable+"=1")
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	pid := 0
	lines := bufio.NewScanner(out)
	for pid == 0 && lines.Scan() {
		_, _ = fmt.Sscanf(lines.Text(), "workerd is %d", &pid)
	}
	_ = run.Process.Kill()
	_ = run.Wait()
	if pid == 0 {
		t.Fatal("it did not start")
	}
	testmachine.Await(t, fmt.Sprintf("process %d ends", pid), func() bool {
		state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(state), ") Z ")
	})
}
