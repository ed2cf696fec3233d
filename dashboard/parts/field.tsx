import { type ComponentProps, type ReactNode, useId } from "react";

const CONTROL =
  "w-full rounded-md border border-edge bg-surface px-3 py-1.5 text-ink placeholder:text-muted aria-invalid:border-danger disabled:opacity-60";

interface Labelled {
  label: string;
  /** The purpose or the format of the field. */
  hint?: ReactNode;
  /** Why the value is invalid. */
  error?: string | undefined;
}

/** The attributes that connect a control with its label, hint and error. */
interface Wired {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
}

function Field({ label, hint, error, children }: Labelled & { children: (wired: Wired) => ReactNode }) {
  const id = useId();
  const notes = [hint ? `${id}-hint` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium">
        {label}
      </label>
      {children({ id, "aria-describedby": notes || undefined, "aria-invalid": error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="text-muted text-sm">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} role="alert" className="text-danger text-sm">
          {error}
        </p>
      )}
    </div>
  );
}

export function TextField({ label, hint, error, ...rest }: Labelled & ComponentProps<"input">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <input className={CONTROL} autoComplete="off" {...wired} {...rest} />}
    </Field>
  );
}

interface TextAreaProps extends Labelled, ComponentProps<"textarea"> {
  /** Shows dots instead of the text, like a password field. */
  isHidden?: boolean;
}

export function TextArea({ label, hint, error, isHidden = false, ...rest }: TextAreaProps) {
  const look = isHidden ? "font-mono [-webkit-text-security:disc]" : "";
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <textarea className={`${CONTROL} min-h-24 ${look}`} autoComplete="off" {...wired} {...rest} />
      )}
    </Field>
  );
}

export function Select({ label, hint, error, ...rest }: Labelled & ComponentProps<"select">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => <select className={CONTROL} {...wired} {...rest} />}
    </Field>
  );
}

/** The options of a select: values and labels. */
export function Options({ of }: { of: readonly (readonly [value: string | number, label: string])[] }) {
  return of.map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}
