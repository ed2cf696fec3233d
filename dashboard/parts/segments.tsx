interface Props<T extends string> {
  /** For screen readers. */
  legend: string;
  options: readonly (readonly [value: T, label: string])[];
  value: T;
  onChange: (value: T) => void;
}

/** A segmented control: buttons in one frame, of which one is pressed. */
export function Segments<T extends string>({ legend, options, value, onChange }: Props<T>) {
  return (
    <fieldset className="flex w-fit flex-wrap rounded-md border border-edge bg-surface text-sm">
      <legend className="sr-only">{legend}</legend>
      {options.map(([each, label]) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === value}
          onClick={() => onChange(each)}
          className="px-3 py-1.5 first-of-type:rounded-l-md last-of-type:rounded-r-md hover:bg-raised aria-pressed:bg-accent aria-pressed:text-on-accent"
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
