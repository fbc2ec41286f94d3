package main

import "time"

// parts are all, in the order in which they are measured.
func parts() []part {
	return []part{
		// Which makes a hundred thousand files: ext4 passes over each inode that was freed in
		// the last minutes, so nothing that removes many may come before.
		{"deploy", func(b *bench) measurer { return b.measureDeploy }, deployPromises, 13, 0},
		{"validate", func(b *bench) measurer { return b.measureValidate }, validatePromises, 3, 0},
		{"migrate", func(b *bench) measurer { return b.measureMigrate }, migratePromises, 6, 0},
		{"dev", func(b *bench) measurer { return b.measureDev }, devPromises, 24, time.Minute},
		{"runtime", func(b *bench) measurer { return b.measureRuntime }, runtimePromises(), 22, 0},
		{"bindings", func(b *bench) measurer { return b.measureBindings }, bindingPromises(), 20, 80 * time.Second},
		{"platform", func(b *bench) measurer { return b.measurePlatform }, platformPromises, 12, 4 * time.Minute},
	}
}

func partNames() (names []string) {
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return names
}
