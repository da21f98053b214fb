// Import this before a module that defines an element: Node has none.
Object.assign(globalThis, { HTMLElement: class {} });
