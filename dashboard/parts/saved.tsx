/** Says beside a form's button that what is in it is kept now. */
export function Saved({ when, children = "Saved" }: { when: boolean; children?: string }) {
  return (
    <span role="status" className="text-ok">
      {when && (
        <>
          <span aria-hidden="true">✓ </span>
          {children}
        </>
      )}
    </span>
  );
}
