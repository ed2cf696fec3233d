import type { Api } from "../../api.ts";
import { notSignedIn } from "../../api-failure.ts";
import type { Context } from "../../context.ts";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/demo.ts";
import { clean } from "./clean.ts";
import { createProject, pushSample, startSession } from "./create.ts";
import { type DemoRecord, demoPaths, newRecord, readRecord } from "./record.ts";
import { comment, merge, send, waitForAnswer } from "./review.ts";
import { show, waitForDeployment } from "./site.ts";
import { readStage, type Stage } from "./stage.ts";
import { work } from "./work.ts";

/** A demo on one host. */
export interface Demo {
  context: Context;
  api: Api;
  record: DemoRecord;
  files: ReturnType<typeof demoPaths>;
  /** Whether a person reviews and decides; otherwise the command does it all. */
  isGuided: boolean;
  /** Whether the person merges without a comment. */
  skipsReview: boolean;
}

/** How often a step is taken for one state of the branch. More is a loop: nothing comes of what the server has confirmed. */
const ATTEMPTS = 3;

/** Spec 4.5 has no demo; the steps are those of a session whose change request is reviewed and merged. */
export const demo: Handler<typeof table.demo> = async (context, { flags }) => {
  const isGuided = !flags.yes;
  if (context.sandbox) {
    throw usage("svc demo does not run in a session's sandbox.", "Run it on your own machine.");
  }
  if (isGuided && !context.canAsk()) {
    throw usage(
      flags.clean
        ? "Deleting the demo needs --yes without a terminal."
        : "svc demo needs a terminal, or --yes.",
      flags.clean ? undefined : "With --yes it comments, merges and opens the app by itself.",
    );
  }
  const api = await context.api();
  if (api.target.token === undefined) throw notSignedIn(api.target);
  const files = demoPaths(context.system, api.target);
  const known = await readRecord(files.file);
  if (flags.clean) return clean(context, api, files, known, flags.yes);
  if (known) await context.out.note(`Continuing ${known.name}. To delete it: svc demo --clean`);
  const record = known ?? (await newRecord(files.file));
  await run({ context, api, files, record, isGuided, skipsReview: false });
};

async function run(demo: Demo): Promise<void> {
  const taken = new Map<string, number>();
  for (;;) {
    const stage = await readStage(demo.api, demo.record, demo.skipsReview);
    if (stage.at === "done") return show(demo, stage);
    const step = `${stage.at} ${"cr" in stage ? stage.cr.head_commit_sha : ""}`;
    const times = (taken.get(step) ?? 0) + 1;
    if (times > ATTEMPTS) throw stuck(stage);
    taken.set(step, times);
    await take(demo, stage);
  }
}

/** Takes the next step. @throws CliError with the command that continues */
async function take(demo: Demo, stage: Exclude<Stage, { at: "done" }>): Promise<void> {
  switch (stage.at) {
    case "project":
      return createProject(demo);
    case "repository":
      return pushSample(demo, stage);
    case "session":
      return startSession(demo, stage);
    case "work":
      return work(demo, stage);
    case "comment":
      return comment(demo, stage);
    case "send":
      return send(demo, stage);
    case "answer":
      return waitForAnswer(demo, stage);
    case "merge":
      return merge(demo, stage);
    case "deploy":
      return waitForDeployment(demo, stage);
    case "closed":
    case "abandoned":
      throw new CliError(
        "not_open",
        stage.at === "closed"
          ? `Change request #${stage.cr.number} of the demo was closed, so the demo cannot continue.`
          : "The session of the demo was deleted before it had answered the review.",
        { hint: "To delete the demo: svc demo --clean. Then start it again: svc demo" },
      );
  }
}

const stuck = ({ at }: Stage): CliError =>
  new CliError("demo_stuck", `The demo does not get past the step "${at}".`, {
    hint: "Read the log of its session with `svc sessions logs`, or start again: svc demo --clean, then svc demo",
  });
