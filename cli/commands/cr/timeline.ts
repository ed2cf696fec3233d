import type { TimelineEvent } from "../../../src/contract/timeline.ts";
import { timelineActor, timelineText } from "../../../src/contract/timeline-text.ts";
import type { Handler } from "../../spec.ts";
import type * as spec from "../../table/cr-review.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { findCr } from "./reference.ts";

/** As many as svc keeps. */
const EVENTS_MAX = 10_000;

export const timeline: Handler<typeof spec.timeline> = async (context, { args }) => {
  const { api, path } = await findCr(context, args.cr);
  const found = await api.list<TimelineEvent>({ path: `${path}/timeline` }, "events", EVENTS_MAX);
  await context.out.result(found, (view) =>
    found.length === 0 ? "" : table(found, view.tty ? SHOWN : COLUMNS, view),
  );
};

const WHEN: Column<TimelineEvent> = {
  title: "WHEN",
  value: ({ created_at }) => created_at,
  shown: ({ created_at }, view) => ago(created_at, view.now),
};
const WHO: Column<TimelineEvent> = { title: "WHO", value: timelineActor };
const WHAT: Column<TimelineEvent> = { title: "WHAT", value: timelineText };

const SHOWN = [WHEN, WHO, WHAT];
const COLUMNS = [WHEN, { title: "EVENT", value: ({ event }: TimelineEvent) => event }, WHO, WHAT];
