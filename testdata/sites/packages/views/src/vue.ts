import { createSSRApp, defineComponent, h, onServerPrefetch, provide, inject, ref, computed, Teleport } from "vue";
import { renderToString, renderToWebStream } from "vue/server-renderer";

const Count = defineComponent({
  props: { start: { type: Number, required: true } },
  async setup(props, { slots }) {
    const n = ref(props.start), twice = computed(() => n.value * 2);
    await new Promise((resolve) => setTimeout(resolve, 1));
    n.value++;
    return () => h("p", { class: ["count", { big: twice.value > 4 }], style: { color: "red" }, onClick: () => {} }, [`${twice.value} ${inject("who")} `, slots.default?.()]);
  },
});

const App = { setup() { provide("who", "<Jane>"); return () => [h("h1", { title: 'a"b' }, "Boats & oars"), h(Count, { start: 2 }, () => h("b", "slot")), h("div", { innerHTML: "<i>raw</i>" }), h(Teleport, { to: "#modal" }, "up")]; } };

/** https://vuejs.org/guide/scaling-up/ssr.html */
export async function vue() {
  const context: { teleports?: Record<string, string> } = {};
  const html = await renderToString(createSSRApp(App), context);
  return { html, teleports: context.teleports, same: (await new Response(renderToWebStream(createSSRApp(App))).text()) === html };
}
