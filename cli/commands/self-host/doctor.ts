import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host-care.ts";
import { count } from "../../text.ts";
import { CHECKS, type Finding, type Machine } from "./doctor-checks.ts";
import { readEnv } from "./env-file.ts";
import { look } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { probe } from "./probe.ts";
import { stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

export const doctor: Handler<typeof table.doctor> = async (context) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const state = await requireState(stack);
  const env = await readEnv(stack);
  const looked = await look(system, stack, state).catch((error: unknown) => {
    if (error instanceof CliError) return error;
    throw error;
  });
  const probes = await probe(system, stack, state.mode, env ?? new Map());
  const services = looked instanceof CliError ? [] : looked;
  const silent = looked instanceof CliError ? looked : null;
  const machine: Machine = { system, stack, state, env, services, silent, probes };
  const findings: Finding[] = [];
  for (const { check, doc, run } of CHECKS) {
    const found = await run(machine);
    findings.push({ check, doc, ...found });
  }
  await out.result(findings, ({ paint }) =>
    findings
      .map(({ check, state: outcome, message, hint }) => {
        const colour = { ok: paint.green, warning: paint.yellow, failed: paint.red }[outcome];
        const then = hint === null ? "" : `\n         ${hint}`;
        return `${colour(outcome.padEnd(8))} ${check}: ${message}${then}\n`;
      })
      .join(""),
  );
  const failed = findings.filter((finding) => finding.state === "failed");
  if (failed.length === 0) return;
  throw new CliError(
    "self_host",
    `${count(failed.length, "check")} failed: ${failed.map(({ check }) => check).join(", ")}.`,
  );
};
