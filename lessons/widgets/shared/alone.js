/**
 * The model of a widget on a page without a kernel: it keeps what it is told, and knows what Python would have computed:
 * in a table, { of: names, values }, or by a function `follows` of its state.
 */
export class Alone {
  constructor({ state, computed = { of: [], values: {} } }, follows = () => ({})) {
    Object.assign(this, { state, computed, follows, handlers: {} });
  }
  get(name) {
    return this.state[name];
  }
  set(name, value) {
    this.state[name] = value;
    this.tell(`change:${name}`);
  }
  on(name, handler) {
    (this.handlers[name] ??= []).push(handler);
  }
  off(name, handler) {
    this.handlers[name] = (this.handlers[name] ?? []).filter((known) => known !== handler);
  }
  tell(name, message) {
    for (const handler of this.handlers[name] ?? []) handler(message);
  }
  /** done: the widget has done by itself what it asks for. */
  send({ ask, done }) {
    if (ask) return done ? undefined : this.tell("msg:custom", { isAlone: true });
    const key = JSON.stringify(this.computed.of.map((name) => this.get(name)));
    for (const [name, value] of Object.entries({ ...this.computed.values[key], ...this.follows(this.state) })) this.set(name, value);
  }
}
