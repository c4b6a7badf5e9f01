# %% [markdown]
# # 6.1.3 notebook

# %%
1 + 1
