import { ROOT } from "./binaries.ts";
import { CHECKS } from "./checks.ts";
import { run } from "./run.ts";

for (const { name, command } of CHECKS) {
  const { code, out, err } = await run(command, { cwd: ROOT });
  process.stdout.write(code === 0 ? `ok    ${name}\n` : `FAIL  ${name}\n${out}${err}\n`);
  if (code !== 0) process.exitCode = 1;
}
