// Making elements. Text goes in as text, wherever it comes from, so nothing in it is markup.

type Attributes = Record<string, string | boolean | ((event: Event) => void)>;

/** An element with attributes, listeners (functions, by the name of their event) and children. */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string | number | false | undefined)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value);
    } else if (typeof value === "string") {
      element.setAttribute(name, value);
    } else {
      element.toggleAttribute(name, value);
    }
  }
  for (const child of children) {
    if (child !== false && child !== undefined) {
      element.append(typeof child === "number" ? String(child) : child);
    }
  }
  return element;
}

/** A button; `key` finds it again after everything was drawn anew. */
export function button(label: string, press: () => void, more: Attributes = {}): HTMLElement {
  return el("button", { type: "button", click: press, "data-key": label, ...more }, label);
}

/** Puts new children into an element. Whatever was focused stays so, if it is still there. */
export function redraw(parent: HTMLElement, ...children: Node[]): void {
  const focused = document.activeElement;
  const key = focused instanceof HTMLElement ? focused.dataset.key : undefined;
  parent.replaceChildren(...children);
  if (key !== undefined) {
    parent.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }
}

/** The element of the document with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) {
    throw new Error(`There is no #${id}.`);
  }
  return element;
}
