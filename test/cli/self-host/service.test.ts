import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseService, startService, stopService } from "../../../cli/commands/self-host/service.ts";
import { stackOf } from "../../../cli/commands/self-host/stack.ts";
import { needs } from "../../helpers/needs.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-service-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A systemctl that records its arguments, and answers as told: the real one needs a login session. */
function machine(name: string, { isRunning, refuses = "" }: { isRunning: boolean; refuses?: string }) {
  const home = join(folder, name);
  const calls = join(home, "calls");
  const program = join(home, "bin/systemctl");
  mkdirSync(join(home, "bin"), { recursive: true });
  writeFileSync(
    program,
    `#!/bin/sh
echo "$@" >> '${calls}'
case "$*" in
  *show-environment) exit ${isRunning ? 0 : 1} ;;
  *"${refuses || "nothing"}"*) echo "Failed: ${refuses}" >&2; exit 1 ;;
esac
`,
  );
  chmodSync(program, 0o755);
  const env = { HOME: home, PATH: `${join(home, "bin")}:/usr/bin:/bin`, SVC_SELF_HOST_DIR: join(home, "sh") };
  const stderr = { isTTY: false, columns: 80, fd: 2, write: async () => {} };
  const system = { env, stderr, self: ["/opt/svc"] };
  return {
    system,
    stack: stackOf(system),
    unit: (project: string) => join(home, ".config/systemd/user", `${project}.service`),
    calls: () => readFileSync(calls, "utf8").trim().split("\n"),
  };
}

const linux = needs("Linux", process.platform === "linux");

linux("without a user manager the server is a process of its own", async () => {
  expect(await chooseService(machine("none", { isRunning: false }).system)).toBe("process");
  expect(await chooseService(machine("some", { isRunning: true }).system)).toBe("systemd");
});

linux("the unit runs the stack's own svc, and stop removes it", async () => {
  const { system, stack, unit, calls } = machine("unit", { isRunning: true });
  const file = unit(stack.project);
  await startService(system, stack, "systemd");
  expect(readFileSync(file, "utf8")).toContain(`ExecStart="${stack.bin}/svc" "self-host" "supervise"\n`);
  expect(calls()).toEqual(["--user daemon-reload", `--user enable --now ${stack.project}.service`]);
  await stopService(system, stack, "systemd");
  expect(existsSync(file)).toBe(false);
  expect(calls().slice(2)).toEqual([`--user disable --now ${stack.project}.service`, "--user daemon-reload"]);
});

linux("a service manager that refuses is named, with the way without it", async () => {
  const { system, stack } = machine("refusing", { isRunning: true, refuses: "enable" });
  const failing = startService(system, stack, "systemd");
  await expect(failing).rejects.toMatchObject({
    message: "The service manager refused: Failed: enable",
    extra: { hint: expect.stringContaining("--no-service") },
  });
});

test("a process needs nothing from a service manager to stop", async () => {
  const { system, stack } = machine("process", { isRunning: true });
  await stopService(system, stack, "process");
  expect(existsSync(join(folder, "process/calls"))).toBe(false);
});
