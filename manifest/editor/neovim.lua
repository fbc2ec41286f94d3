if vim.fn.has("nvim-0.11") == 1 then
  -- The folder of this file. Neovim 0.11 names it relative to the current one.
  local source = debug.getinfo(1, "S").source
  local root = source:sub(1, 1) == "@" and vim.fs.dirname(vim.fn.fnamemodify(source:sub(2), ":p")) or vim.fn.getcwd()
  local schema = {
    fileMatch = { "pages.deploy.json" },
    url = vim.uri_from_fname(root .. "/.nvim/pages.schema.json"),
  }
  -- Adds the schema to those that a running jsonls has already.
  local function add(client)
    local json = vim.deepcopy(vim.tbl_get(client.settings, "json") or {})
    for _, known in ipairs(json.schemas or {}) do
      if known.url == schema.url then
        return
      end
    end
    json.schemas = vim.list_extend(json.schemas or {}, { schema })
    json.validate = json.validate or { enable = true }
    client.settings = vim.tbl_extend("force", client.settings, { json = json })
    client:notify("workspace/didChangeConfiguration", { settings = client.settings })
  end
  vim.api.nvim_create_autocmd("LspAttach", {
    group = vim.api.nvim_create_augroup("pages.schema " .. root, {}),
    desc = "Map pages.deploy.json to its JSON Schema",
    callback = function(event)
      local client = vim.lsp.get_client_by_id(event.data.client_id)
      local name = vim.fs.normalize(vim.api.nvim_buf_get_name(event.buf))
      local inside = vim.startswith(name, vim.fs.normalize(root) .. "/")
      if client and client.name == "jsonls" and inside then
        add(client)
      end
    end,
  })
  -- Without a configuration of the user's own, the server is started as it is.
  if vim.fn.executable("vscode-json-language-server") == 1 then
    local configured = vim.lsp.config.jsonls
    if not (configured and configured.cmd) then
      vim.lsp.config("jsonls", {
        cmd = { "vscode-json-language-server", "--stdio" },
        filetypes = { "json", "jsonc" },
        root_markers = { ".git" },
      })
    end
    vim.lsp.enable("jsonls")
  end
end
