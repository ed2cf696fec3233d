import type { ReactNode } from "react";
import { messageOf } from "../api/failure.ts";
import { Button } from "./button.tsx";

const LOOKS = {
  error: "border-danger bg-danger-ground text-danger",
  warning: "border-warn bg-warn-ground text-warn",
  success: "border-ok bg-ok-ground text-ok",
  info: "border-info bg-info-ground text-info",
} as const;

/** A sentence that the reader should not miss. Errors are read out at once, the rest when there is a pause. */
export function Notice({ kind, children }: { kind: keyof typeof LOOKS; children: ReactNode }) {
  return (
    <div
      role={kind === "error" ? "alert" : "status"}
      className={`rounded-md border px-3 py-2 ${LOOKS[kind]}`}
    >
      {children}
    </div>
  );
}

/** What went wrong, in the API's words, and the way to try again. Nothing without an error. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === null || error === undefined) return null;
  return (
    <Notice kind="error">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="wrap-anywhere">{messageOf(error)}</span>
        {retry && <Button onClick={retry}>Try again</Button>}
      </div>
    </Notice>
  );
}
