declare const plugin: (app: any) => void;
export default plugin;
