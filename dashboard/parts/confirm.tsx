import { type FormEvent, type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";
import { Failure } from "./notice.tsx";

interface Props {
  title: string;
  /** What happens, and what of it cannot be undone. */
  children: ReactNode;
  /** The label of the button: verb and object. */
  verb: string;
  /** A text to type as a confirmation, for actions that cannot be undone. */
  typed?: string;
  busy: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks for confirmation of a destructive action. */
export function Confirm({ title, children, verb, typed, busy, error, onConfirm, onClose }: Props) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (typed === undefined || text === typed) onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <div>{children}</div>
        {typed !== undefined && (
          <TextField
            label={`Type ${typed} to confirm`}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        <Failure error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy} disabled={typed !== undefined && text !== typed}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
