import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { Command } from "./command.tsx";

interface Props {
  /** What was done, and that the secret has to be copied now. */
  said: ReactNode;
  /** The label of the button that copies the secret. */
  copy: string;
  secret: string;
  /** How to use it. */
  children?: ReactNode;
  onClose: () => void;
}

/** A new secret, which is shown only once. It receives the focus. */
export function ShownOnce({ said, copy, secret, children, onClose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div
      ref={box}
      tabIndex={-1}
      className="mb-4 flex flex-col gap-3 rounded-md border border-ok bg-ok-ground p-3"
    >
      <p role="status" className="text-ok">
        {said}
      </p>
      <Command label={copy}>{secret}</Command>
      {children}
      <div>
        <Button onClick={onClose}>Done</Button>
      </div>
    </div>
  );
}
