import { expect, test } from "bun:test";
import { statusText } from "../../cli/commands/sessions/show-session.ts";
import type { Session } from "../../src/contract/session.ts";
import { session } from "../helpers/cli-sessions.ts";

const away = (kind: "engine" | "repository"): Session["blocked_on"] => ({
  kind,
  message: "It is away.",
  position: null,
  length: null,
});

test.each<[change: Partial<Session>, text: string]>([
  [{ status: "provisioning", step: "image" }, "provisioning (image)"],
  [
    {
      status: "provisioning",
      step: "waiting",
      blocked_on: { kind: "queue", message: "", position: 3, length: 12 },
    },
    "provisioning (waiting, place 3 of 12)",
  ],
  [
    { status: "provisioning", step: "branch", blocked_on: away("repository") },
    "provisioning (branch, repository away)",
  ],
  [{ status: "provisioning", blocked_on: away("engine") }, "provisioning (engine away)"],
  [{ status: "running", blocked_on: away("engine") }, "running (engine away)"],
  [
    { status: "running", activity: "idle", blocked_on: away("engine"), walls: [] },
    "running (idle, engine away, no walls)",
  ],
  [{ status: "running" }, "running"],
  [{ status: "stopped", stop_reason: "idle" }, "stopped (idle)"],
  [{ status: "failed", step: "clone" }, "failed (clone)"],
])("%j is %s", (change, text) => {
  expect(statusText(session(change))).toBe(text);
});
