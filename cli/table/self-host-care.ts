import { bind, spec } from "../spec.ts";

export const backup = spec({
  path: ["self-host", "backup"],
  summary: "Back up the server, also while it runs",
  about: [
    "Writes two files: the archive (.tar) with the database, the repositories and the master key, and the settings (.env beside it). Both together are as secret as the server. Without a name, they go to the folder `backups` of the server.",
  ],
  args: [
    { name: "file", summary: "The archive to write: it must not exist, and ends in .tar", completes: "file" },
  ],
  flags: {
    "without-key": {
      kind: "boolean",
      summary: "Leave the master key out of the archive and the settings",
    },
  },
  fields: ["archive", "settings", "bytes", "version", "has_key"],
  examples: [
    ["svc self-host backup", "Into the folder of the server"],
    ["svc self-host backup /mnt/backups/svc.tar", "Onto another disk"],
  ],
});

export const restore = spec({
  path: ["self-host", "restore"],
  summary: "Restore a backup on a machine without a server",
  about: [
    "Reads the archive and the settings beside it, checks both, and restores everything or nothing. A backup of a server in Docker can be restored with --native, and the other way round. Start the server afterwards: svc self-host start.",
  ],
  args: [{ name: "file", summary: "The archive (.tar)", required: true, completes: "file" }],
  flags: {
    native: { kind: "boolean", summary: "Without Docker: svc-api on its embedded database" },
    "api-binary": {
      kind: "string",
      value: "path",
      summary: "The program svc-api, if it is not beside svc or on the PATH",
      completes: "file",
    },
  },
  fields: ["mode", "folder", "version"],
  examples: [
    ["svc self-host restore /mnt/backups/svc.tar", "On another machine, into Docker"],
    ["svc self-host restore /mnt/backups/svc.tar --native", "Without Docker"],
  ],
});

export const update = spec({
  path: ["self-host", "update"],
  guesses: ["upgrade"],
  summary: "Update the server to the version of this svc",
  about: [
    "Backs the server up, stops it, replaces its programs, and starts it. If the new version does not answer, the old programs and the data of before the update are put back. Update svc itself first: svc update.",
    "On Docker Compose, and with a DATABASE_URL of your own, only the programs are put back; the error names the backup.",
  ],
  args: [],
  flags: {
    "api-binary": {
      kind: "string",
      value: "path",
      summary: "The new svc-api, instead of that of the release",
      completes: "file",
    },
    force: { kind: "boolean", summary: "Also if the server has this version already" },
  },
  fields: ["from", "to", "backup", "updated"],
  examples: [
    ["svc self-host update", "After svc update"],
    ["svc self-host update --api-binary ./svc-api", "To a program of your own"],
  ],
});

export const doctor = spec({
  path: ["self-host", "doctor"],
  guesses: ["check"],
  summary: "Check the server and its machine, and say what to do",
  about: ["Exits with 1 if a check failed. docs/doctor.md has more about each."],
  args: [],
  flags: {},
  fields: ["check", "state", "message", "hint", "doc"],
  examples: [
    ["svc self-host doctor", "All checks"],
    ["svc self-host doctor --jq '.[] | select(.state != \"ok\")'", "Only what needs attention"],
  ],
});

export const careCommands = [
  bind(backup, () => import("../commands/self-host/backup.ts").then((module) => module.backup)),
  bind(restore, () => import("../commands/self-host/restore.ts").then((module) => module.restore)),
  bind(update, () => import("../commands/self-host/update.ts").then((module) => module.update)),
  bind(doctor, () => import("../commands/self-host/doctor.ts").then((module) => module.doctor)),
];
