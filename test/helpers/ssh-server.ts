import { existsSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../scripts/free-port.ts";

const SSHD = "/usr/sbin/sshd";
const USER = Bun.spawnSync(["id", "-un"]).stdout.toString().trim();

/** For `needs("an ssh server (sshd)", SSH_SERVER)`. */
export const SSH_SERVER = existsSync(SSHD) && Bun.which("ssh-keygen") !== null;

/** An ssh server on loopback, with a key that it knows and one that it does not. */
export async function startSshServer(root: string) {
  const directory = join(root, "sshd");
  await mkdir(directory, { mode: 0o700 });
  if (process.getuid?.() === 0) await mkdir("/run/sshd", { recursive: true, mode: 0o755 });
  for (const name of ["host", "key", "other"]) await makeKey(join(directory, name));
  await Bun.write(join(directory, "authorized"), Bun.file(join(directory, "key.pub")));
  const port = freePort();
  const config = [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${directory}/host`,
    `AuthorizedKeysFile ${directory}/authorized`,
    `PidFile ${directory}/pid`,
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin prohibit-password",
    "PasswordAuthentication no",
    "KbdInteractiveAuthentication no",
  ];
  await Bun.write(join(directory, "config"), `${config.join("\n")}\n`);
  await chmod(join(directory, "config"), 0o600);
  let child = await listen();
  return {
    /** `ssh://<user>@127.0.0.1:<port>`; the path of a repository on this disk follows. */
    origin: `ssh://${USER}@127.0.0.1:${port}`,
    key: join(directory, "key"),
    otherKey: join(directory, "other"),
    stop,
    async listen() {
      child = await listen();
    },
    async changeHostKey() {
      await stop();
      await Bun.$`rm -f ${directory}/host ${directory}/host.pub`.quiet();
      await makeKey(join(directory, "host"));
      child = await listen();
    },
    [Symbol.asyncDispose]: stop,
  };

  async function listen() {
    const log = Bun.file(join(directory, "log"));
    await Bun.write(log, "");
    const started = Bun.spawn([SSHD, "-D", "-e", "-f", join(directory, "config")], {
      stdout: "ignore",
      stderr: log,
    });
    for (let tries = 0; tries < 100; tries++) {
      if ((await log.text()).includes("Server listening")) return started;
      await Bun.sleep(20);
    }
    throw new Error(`sshd did not start: ${await log.text()}`);
  }

  async function stop(): Promise<void> {
    child.kill();
    await child.exited;
  }
}

async function makeKey(path: string): Promise<void> {
  const made = Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
}
