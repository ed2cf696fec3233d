import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { Command } from "../../parts/command.tsx";

interface Props {
  secret: string;
  /** What was done. */
  children: ReactNode;
  onClose: () => void;
}

/** The secret with which a webhook signs, which is shown only once. It receives the focus. */
export function NewSecret({ secret, children, onClose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div
      ref={box}
      tabIndex={-1}
      className="mb-4 flex flex-col gap-3 rounded-md border border-ok bg-ok-ground p-3"
    >
      <p role="status" className="text-ok">
        {children} Copy its secret now: it is not shown again. The receiver verifies the signatures of
        deliveries with it.
      </p>
      <Command label="Copy the secret">{secret}</Command>
      <div>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  );
}
