const created = document.createElement.bind(document);
let isDone = false;

/**
 * Lets the terminal have its styles. It writes rules into `<style>` elements and colours into `style` attributes, both of which
 * the page's content security policy blocks. From now on a `<style>` element becomes a style sheet of the document, and a `style`
 * attribute properties, which script may change.
 */
export function allowStyles(): void {
  if (isDone) return;
  isDone = true;
  Object.defineProperty(document, "createElement", { value: createElement });
}

function createElement(tag: string, options?: ElementCreationOptions): HTMLElement {
  if (tag === "style") return sheetElement();
  const element = created(tag, options);
  element.setAttribute = setAttribute;
  return element;
}

function setAttribute(this: HTMLElement, name: string, value: string): void {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
}

/** An element whose text is a style sheet of the document as long as it is not removed. */
function sheetElement(): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const element = created("span");
  element.hidden = true;
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text) });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
