import type { ReactNode } from "react";
import { messageOf } from "../api/failure.ts";
import { Button } from "./button.tsx";

const LOOKS = {
  error: "border-danger bg-danger-ground text-danger",
  warning: "border-warn bg-warn-ground text-warn",
  success: "border-ok bg-ok-ground text-ok",
  info: "border-info bg-info-ground text-info",
} as const;

/** An important message. Screen readers announce errors at once, and others when they are idle. */
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

interface FailureProps {
  error: unknown;
  retry?: () => void;
  /** Another way on, next to the button. */
  also?: ReactNode;
}

/** Shows the message of an error and a button to retry; nothing if there is no error. */
export function Failure({ error, retry, also }: FailureProps) {
  if (error === null || error === undefined) return null;
  return (
    <Notice kind="error">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <span className="wrap-anywhere">{messageOf(error)}</span>
        <span className="flex flex-wrap gap-2 empty:hidden">
          {also}
          {retry && <Button onClick={retry}>Try again</Button>}
        </span>
      </div>
    </Notice>
  );
}
