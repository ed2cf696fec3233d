import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import type { Paint, View } from "../../output.ts";
import { ago, type Column, table } from "../../table-print.ts";
import { oneLine } from "../../text.ts";

/** A list of change requests, as a table for a terminal or as rows for a script. */
export const listOf = (crs: readonly ChangeRequest[], view: View): string =>
  crs.length === 0 ? "" : table(crs, CR_COLUMNS, view);

export const CR_COLUMNS: readonly Column<ChangeRequest>[] = [
  {
    title: "CR",
    value: (cr) => String(cr.number),
    shown: (cr) => `#${cr.number}`,
    paint: (cr, view) => statusPaint(view.paint, cr.status),
  },
  { title: "TITLE", value: (cr) => cr.title, flexible: true },
  { title: "HEAD", value: (cr) => cr.head_ref, flexible: true, paint: (_, view) => view.paint.cyan },
  { title: "BASE", value: (cr) => cr.base_ref },
  {
    title: "STATUS",
    value: stateOf,
    shown: (cr) => (cr.stale ? `${stateOf(cr)}, stale` : stateOf(cr)),
    paint: (cr, view) => statusPaint(view.paint, stateOf(cr)),
  },
  {
    title: "UPDATED",
    value: (cr) => cr.updated_at,
    shown: (cr, view) => ago(cr.updated_at, view.now),
    paint: (_, view) => view.paint.dim,
  },
];

/** `draft`, or the status. */
export function stateOf({ status, draft }: ChangeRequest): string {
  return draft && status === "open" ? "draft" : status;
}

export function statusPaint(paint: Paint, status: string): (text: string) => string {
  if (status === "open") return paint.green;
  if (status === "draft") return paint.dim;
  return status === "merged" ? paint.cyan : paint.red;
}

/** One line on the result of an action on a change request. */
export const outcome = (cr: ChangeRequest, sentence: string, { paint }: View): string =>
  `${statusPaint(paint, cr.status)(`#${cr.number}`)} ${oneLine(cr.title)}: ${sentence}\n`;
