/** The routes as they were registered, to tell a wrong method from a wrong address. */
export class RouteTable {
  readonly #routes: { readonly pattern: RegExp; readonly method: string }[] = [];

  add(methods: string | readonly string[], path: string): void {
    const source = path.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replace(/[^\w-]/g, '\\$&')));
    const pattern = new RegExp(`^${source.join('/')}/?$`);
    for (const method of [methods].flat()) this.#routes.push({ pattern, method });
  }

  methodsOf(url: string): string[] {
    const path = url.split(/[?#]/)[0]!;
    return [...new Set(this.#routes.filter((route) => route.pattern.test(path)).map((route) => route.method))].sort();
  }
}
