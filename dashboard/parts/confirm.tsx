import { type ReactNode, useState } from "react";
import { FormDialog } from "./dialog.tsx";
import { TextField } from "./field.tsx";

interface Props {
  title: string;
  /** What happens, and what of it cannot be undone. */
  children: ReactNode;
  /** The label of the button: verb and object. */
  verb: string;
  /** A text to type as a confirmation, for actions that cannot be undone. */
  typed?: string;
  action: { isPending: boolean; error: unknown };
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks for confirmation of a destructive action. */
export function Confirm({ title, children, verb, typed, action, onConfirm, onClose }: Props) {
  const [text, setText] = useState("");
  const isConfirmed = typed === undefined || text === typed;
  return (
    <FormDialog
      {...{ title, verb, onClose }}
      look="danger"
      busy={action.isPending}
      disabled={!isConfirmed}
      error={action.error}
      onSubmit={() => isConfirmed && onConfirm()}
    >
      <div>{children}</div>
      {typed !== undefined && (
        <TextField
          label={`Type ${typed} to confirm`}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
    </FormDialog>
  );
}
