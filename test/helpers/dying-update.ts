import { readFileSync } from "node:fs";
import { replaceProgram } from "../../cli/install/replace-program.ts";

/** Replaces a program, and is killed at a step: `<program> <new program> <its version> <step>`. */
const [program = "", fresh = "", version = "", last = ""] = process.argv.slice(2);

await replaceProgram(program, readFileSync(fresh), version, (step) => {
  if (step === last) process.kill(process.pid, "SIGKILL");
});
