import { setDefaultTimeout } from "bun:test";
import { TEST_LIMIT_MS } from "../scripts/test/limit.ts";

// Also for `bun test` without the test command. It holds for the first of several files only.
setDefaultTimeout(Number(process.env["SVC_TEST_LIMIT_MS"] ?? TEST_LIMIT_MS));

// A hash with the real cost takes 0.13 s of CPU time, and a run makes a thousand. `e2e/server` verifies the real cost.
const { hash } = Bun.password;
Bun.password.hash = (password) => hash(password, { algorithm: "argon2id", memoryCost: 8, timeCost: 1 });
