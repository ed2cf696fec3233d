import { X } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";
import { Failure, Notice } from "./notice.tsx";

interface Props {
  title: string;
  /** Whether what is typed would be missed: Escape discards it only when it is pressed twice. */
  isDraft?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/**
 * A modal dialog. The browser keeps the focus inside, and gives it to the first field, or the first button if there is no
 * field; the button that had it before gets it back. Escape closes the dialog.
 */
export function Dialog({ title, isDraft = true, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const [typed, setTyped] = useState<"nothing" | "text" | "text to discard">("nothing");
  // close before the element is removed: only then does the browser restore the focus
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onInput={() => isDraft && setTyped("text")}
      onCancel={(event) => {
        event.preventDefault();
        if (typed === "text") setTyped("text to discard");
        else onClose();
      }}
      // browsers ask only once: a second Escape closes
      onClose={() => element.current && onClose()}
      className="relative m-auto w-[calc(100%-2rem)] max-w-lg rounded-lg border border-line bg-surface p-5 text-ink shadow-xl"
    >
      <h2 id={id} className="mb-3 pr-10 font-semibold text-lg wrap-anywhere">
        {title}
      </h2>
      {children}
      {typed === "text to discard" && (
        <div className="mt-4">
          <Notice kind="warning">Press Escape again to discard what you have typed.</Notice>
        </div>
      )}
      {/* last, so that the dialog opens with the focus on its first field */}
      <div className="absolute top-4 right-4">
        <Button look="quiet" onClick={onClose} aria-label="Close">
          <X className="size-4" />
        </Button>
      </div>
    </dialog>
  );
}

interface FormProps extends Props {
  /** The label of the button that submits: verb and object. */
  verb: string;
  look?: "primary" | "danger";
  busy: boolean;
  disabled?: boolean;
  error: unknown;
  onSubmit: () => void;
}

/** A dialog with a form. */
export function FormDialog(props: FormProps) {
  const { title, verb, look = "primary", busy, disabled = false, error, onSubmit, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={onSubmit}>
        {children}
        <Failure error={error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look={look} busy={busy} disabled={disabled}>
            {verb}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
