import { useId } from "react";

interface Option<T extends string> {
  value: T;
  label: string;
  about: string;
}

interface Props<T extends string> {
  legend: string;
  value: T;
  options: readonly Option<T>[];
  onChange: (value: T) => void;
}

/** Radio buttons, each with a description. */
export function Choice<T extends string>({ legend, value, options, onChange }: Props<T>) {
  const name = useId();
  return (
    <fieldset>
      <legend className="mb-1 font-medium">{legend}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {options.map((option) => (
          <label
            key={option.value}
            className="flex cursor-pointer gap-3 rounded-md border border-edge bg-surface p-3 has-checked:border-accent has-checked:bg-raised"
          >
            <input
              type="radio"
              name={name}
              className="mt-1 size-4 shrink-0 accent-accent"
              checked={option.value === value}
              onChange={() => onChange(option.value)}
            />
            <span>
              <span className="font-medium">{option.label}</span>
              <span className="block text-muted text-sm">{option.about}</span>
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
