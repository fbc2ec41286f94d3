package filewatch

import "golang.org/x/sys/unix"

// eventless has the file systems, by Linux's numbers, on which changes can happen without an event.
var eventless = map[uint32]string{
	unix.V9FS_MAGIC:       "9p", // WSL's /mnt/c, folders of the host in a virtual machine
	unix.FUSE_SUPER_MAGIC: "fuse",
	unix.NFS_SUPER_MAGIC:  "nfs",
	unix.CIFS_SUPER_MAGIC: "cifs",
	unix.SMB_SUPER_MAGIC:  "smb",
	unix.SMB2_SUPER_MAGIC: "smb",
	unix.AFS_SUPER_MAGIC:  "afs",
	unix.AFS_FS_MAGIC:     "afs",
	unix.CEPH_SUPER_MAGIC: "ceph",
	unix.CODA_SUPER_MAGIC: "coda",
	0x53464846:            "drvfs",  // WSL 1
	0x786f4256:            "vboxsf", // VirtualBox
	0xbacbacbc:            "vmhgfs", // VMware
	0x7c7c6673:            "prl_fs", // Parallels
}

// fileSystemOf returns the name of a folder's file system and the pause between two looks there; "" if the system reports all changes.
func fileSystemOf(dir string) (string, pace) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", pace{}
	}
	return kindOf(uint32(s.Type)) //nolint:gosec // the number has 32 bits; some systems keep it in more, with a sign
}

func kindOf(number uint32) (string, pace) {
	if number == unix.OVERLAYFS_SUPER_MAGIC {
		return "overlay", rare
	}
	if kind := eventless[number]; kind != "" {
		return kind, usual
	}
	return "", pace{}
}
