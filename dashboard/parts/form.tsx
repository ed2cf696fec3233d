import { useMutation } from "@tanstack/react-query";
import { type ComponentProps, useState } from "react";
import { byField } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { Failure } from "./notice.tsx";

type FormProps = Omit<ComponentProps<"form">, "onSubmit"> & { onSubmit: () => void };

/** A form that does not reload the page. */
export function Form({ onSubmit, ...rest }: FormProps) {
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      {...rest}
    />
  );
}

interface Sending<Values, Answer> {
  send: (values: Values) => Promise<Answer>;
  /** @param set changes fields, for example to clear them */
  onSuccess?: (answer: Answer, set: (changes: Partial<Values>) => void) => unknown;
}

/** The props that connect a control with a field. */
export interface InputProps {
  value: string;
  onChange: (event: { target: { value: string } }) => void;
}
export interface FieldProps extends InputProps {
  error: string | undefined;
}
export type FieldOf<Values> = (name: keyof Values & string) => FieldProps;

/**
 * The state of a form of the API.
 * @param initial the values of the fields, by their names in the API
 * @returns `input` connects a control with its field; `field` also shows the field's error, and `rest` is then the error
 *   that no field shows
 */
export function useForm<Values extends Record<string, string>, Answer>(
  initial: Values,
  { send, onSuccess }: Sending<Values, Answer>,
) {
  const [values, setValues] = useState(initial);
  const set = (changes: Partial<Values>) => setValues((before) => ({ ...before, ...changes }));
  const { mutate, ...sent } = useMutation({
    mutationFn: () => send(values),
    onSuccess: (answer) => onSuccess?.(answer, set),
  });
  const errors = byField(sent.error, Object.keys(initial));
  const input = (name: keyof Values & string): InputProps => ({
    value: values[name] ?? "",
    onChange: (event) => setValues((before) => ({ ...before, [name]: event.target.value })),
  });
  const field: FieldOf<Values> = (name) => ({ ...input(name), error: errors.of(name) });
  return { ...sent, values, input, field, rest: errors.rest, submit: () => mutate() };
}

interface SaveProps extends Pick<ComponentProps<typeof Button>, "look" | "disabled"> {
  form: { isPending: boolean; isSuccess: boolean; rest: unknown };
  /** The label of the button. */
  verb: string;
  /** Whether the fields are as they were after saving. */
  isClean: boolean;
  /** The confirmation. */
  saved?: string;
}

/** The end of a form on a settings page: its error, its button, and the confirmation that its values are saved. */
export function Save({ form, verb, isClean, saved = "Saved", ...button }: SaveProps) {
  return (
    <>
      <Failure error={form.rest} />
      <div className="flex items-center gap-3">
        <Button type="submit" busy={form.isPending} {...button}>
          {verb}
        </Button>
        <span role="status" className="text-ok">
          {form.isSuccess && isClean && (
            <>
              <span aria-hidden="true">✓ </span>
              {saved}
            </>
          )}
        </span>
      </div>
    </>
  );
}
