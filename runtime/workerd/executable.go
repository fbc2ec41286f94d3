package workerd

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// This file finds out for which system a program is, from its first bytes.

var (
	elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	machoCPUs   = map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}
)

// headBytes is the length of the head that shows the kind of a file.
const headBytes = 4

func readHead(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, headBytes)
	n, _ := io.ReadFull(f, b)
	return b[:n]
}

func isScript(path string) bool { return bytes.HasPrefix(readHead(path), []byte("#!")) }

// checkExecutable refuses a file that is not a program of this system.
func checkExecutable(path string) error {
	system, err := systemOf(path)
	switch {
	case err != nil:
		return err
	case system == "a script":
		return &faultError{"it is a script, and not the program itself", "", nil}
	case system == "":
		return &faultError{"it is not a program", "", nil}
	case runs(system):
		return nil
	}
	return &faultError{fmt.Sprintf("it is a program for %s, and this is %s", system, platform()), "", nil}
}

// runs reports whether this system runs the programs of another.
func runs(system string) bool {
	return system == platform() || system == "darwin/universal" && runtime.GOOS == "darwin" ||
		system == "windows/amd64" && runtime.GOOS == "windows" || system == "darwin/amd64" && runtime.GOOS == "darwin"
}

// systemOf returns the system of a program, as GOOS/GOARCH, or "a script"; "" for any other file.
func systemOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	start := make([]byte, headBytes)
	if _, err := io.ReadFull(f, start); err != nil {
		return "", nil // too short for a program
	}
	switch {
	case bytes.HasPrefix(start, []byte("#!")):
		return "a script", nil
	case bytes.HasPrefix(start, []byte(elf.ELFMAG)):
		return elfSystem(f), nil
	case bytes.HasPrefix(start, []byte("MZ")):
		return peSystem(f), nil
	}
	return machoSystem(f, start), nil
}

func elfSystem(f *os.File) string {
	file, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	defer file.Close()
	for arch, machine := range elfMachines {
		if file.Machine == machine {
			return "linux/" + arch
		}
	}
	return "another processor (" + file.Machine.String() + ")"
}

func peSystem(f *os.File) string {
	file, err := pe.NewFile(f)
	if err != nil {
		return ""
	}
	defer file.Close()
	switch file.Machine {
	case pe.IMAGE_FILE_MACHINE_AMD64:
		return "windows/amd64"
	case pe.IMAGE_FILE_MACHINE_ARM64:
		return "windows/arm64"
	}
	return "Windows on another processor"
}

// fatMagic begins a program for several processors.
var fatMagic = []byte{0xca, 0xfe, 0xba, 0xbe}

func machoSystem(f *os.File, start []byte) string {
	if bytes.Equal(start, fatMagic) {
		return "darwin/universal"
	}
	file, err := macho.NewFile(f)
	if err != nil {
		return ""
	}
	defer file.Close()
	for arch, cpu := range machoCPUs {
		if file.Cpu == cpu {
			return "darwin/" + arch
		}
	}
	return "macOS on another processor"
}

// loaderOf returns the loader that a program of Linux asks for.
func loaderOf(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return "which it does not name"
	}
	defer file.Close()
	for _, p := range file.Progs {
		const most = 256 // bytes of a path
		if p.Type == elf.PT_INTERP && p.Filesz <= most {
			name := make([]byte, p.Filesz)
			if _, err := p.ReadAt(name, 0); err == nil {
				return strings.TrimRight(string(name), "\x00")
			}
		}
	}
	return "which it does not name"
}
