import { useState } from "react";
import { Button } from "./button.tsx";

/** How long the result of copying is shown. */
const RESULT_MS = 2_000;

/** A command or another text, with a button that copies it. */
export function Command({ children, label = "Copy the command" }: { children: string; label?: string }) {
  const { copy, state } = useCopy(children);
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-raised py-1 pr-1 pl-3">
      <code className="min-w-0 grow wrap-anywhere py-1 font-mono text-sm">{children}</code>
      <Button look="quiet" onClick={copy} aria-label={label} className="shrink-0 text-sm">
        <span aria-live="polite">{{ idle: "Copy", copied: "Copied", failed: "Copy failed" }[state]}</span>
      </Button>
    </div>
  );
}

/** Copies a text to the clipboard, and shows for a moment whether that worked. */
export function useCopy(text: string) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const copy = async () => {
    // browsers provide the clipboard only over https
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    setState(copied ? "copied" : "failed");
    setTimeout(() => setState("idle"), RESULT_MS);
  };
  return { copy, state };
}
