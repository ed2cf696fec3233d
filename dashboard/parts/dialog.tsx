import { type ReactNode, useId, useLayoutEffect, useRef } from "react";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";
import { Failure } from "./notice.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog. The browser keeps the focus inside; Escape closes it. */
export function Dialog({ title, onClose, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
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
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      className="m-auto w-[calc(100%-2rem)] max-w-lg rounded-lg border border-line bg-surface p-5 text-ink shadow-xl"
    >
      <div className="mb-3 flex items-start justify-between gap-4">
        <h2 id={id} className="font-semibold text-lg wrap-anywhere">
          {title}
        </h2>
        <Button look="quiet" onClick={onClose} aria-label="Close">
          ✕
        </Button>
      </div>
      {children}
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
